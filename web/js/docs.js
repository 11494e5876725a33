// The API explorer: Swagger UI over the served contract, without what needs other hosts.
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

const box = document.getElementById("explorer");

SwaggerUI({
  url: box.dataset.spec,
  domNode: box,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
  syntaxHighlight: { activated: false },
});
