// Shows the OpenAPI document named by the page. `validatorUrl: null` keeps Swagger UI from asking another host.
window.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("docs");
  window.SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    deepLinking: true,
    docExpansion: "list",
    validatorUrl: null,
  });
});
